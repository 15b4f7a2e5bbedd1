import { sentencesOf, topicWordsOf } from './text.js';

export interface ScoredSentence {
  position: number;
  text: string;
  score: number;
}

/** How much the opening of a text counts: its first sentences usually say what it is about. */
const LEAD_BONUS = 0.25;
const LEAD_SENTENCES = 2;

/** How often each topic word occurs in the document, over the most frequent one: 0 to 1. */
export function wordWeights(sentences: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of sentences.flatMap(topicWordsOf)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const most = Math.max(1, ...counts.values());
  return new Map([...counts].map(([word, count]) => [word, count / most]));
}

/**
 * The mean weight of a sentence's topic words (H. P. Luhn, "The Automatic Creation of Literature Abstracts",
 * 1958, in its simplest form), with a bonus for the opening.
 */
export function scoreSentence(
  text: string,
  position: number,
  weights: ReadonlyMap<string, number>,
): ScoredSentence {
  const words = topicWordsOf(text);
  const mean = words.reduce((sum, word) => sum + (weights.get(word) ?? 0), 0) / Math.max(5, words.length);
  return { position, text, score: mean + (position < LEAD_SENTENCES ? LEAD_BONUS : 0) };
}

/** The `count` best sentences, in the order of the text. */
export function bestOf(scored: readonly ScoredSentence[], count: number): string[] {
  return [...scored]
    .sort((a, b) => b.score - a.score || a.position - b.position)
    .slice(0, count)
    .sort((a, b) => a.position - b.position)
    .map((sentence) => sentence.text);
}

/** Sentences and word weights of a document, ready to be scored one by one. */
export function prepare(text: string): { sentences: string[]; weights: Map<string, number> } {
  const sentences = sentencesOf(text);
  return { sentences, weights: wordWeights(sentences) };
}
