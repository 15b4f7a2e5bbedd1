import { proseOf, STOP_WORDS } from './text.js';

export interface Keyword {
  phrase: string;
  score: number;
}

const LONGEST_PHRASE = 3;

/**
 * Key phrases by RAKE (S. Rose and others, "Automatic Keyword Extraction from Individual Documents", 2010):
 * candidates are runs of words between stop words and punctuation; a word scores its degree (how long the
 * phrases are that it stands in) over its frequency, a phrase the sum of its words.
 */
export function keywordsOf(text: string, count: number): Keyword[] {
  const phrases = candidates(text);
  const frequency = new Map<string, number>();
  const degree = new Map<string, number>();
  for (const word of phrases.flat()) frequency.set(word, (frequency.get(word) ?? 0) + 1);
  for (const phrase of phrases)
    for (const word of phrase) degree.set(word, (degree.get(word) ?? 0) + phrase.length);
  const scores = new Map<string, number>();
  for (const phrase of phrases) {
    const score = phrase.reduce((sum, word) => sum + (degree.get(word) ?? 0) / (frequency.get(word) ?? 1), 0);
    const key = phrase.join(' ');
    // A phrase that occurs again matters more than one that is merely long.
    scores.set(key, (scores.get(key) ?? 0) + score);
  }
  return [...scores]
    .map(([phrase, score]) => ({ phrase, score: Math.round(score * 100) / 100 }))
    .sort((a, b) => b.score - a.score || a.phrase.localeCompare(b.phrase))
    .slice(0, count);
}

function candidates(text: string): string[][] {
  const phrases: string[][] = [];
  for (const part of proseOf(text)
    .toLowerCase()
    .split(/[^\p{L}\p{N}\s'-]+|\n+/u)) {
    let phrase: string[] = [];
    for (const word of [...part.split(/\s+/), '']) {
      if (word.length > 2 && !STOP_WORDS.has(word)) phrase.push(word);
      else {
        if (phrase.length > 0 && phrase.length <= LONGEST_PHRASE) phrases.push(phrase);
        phrase = [];
      }
    }
  }
  return phrases;
}
