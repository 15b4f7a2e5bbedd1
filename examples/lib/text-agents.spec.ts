import { readdirSync, readFileSync } from 'node:fs';
import { translateWords } from './dictionary.js';
import { keywordsOf } from './keywords.js';
import { bestOf, prepare, scoreSentence } from './summarize.js';
import { sentencesOf } from './text.js';

const DOCUMENTS = new URL('../documents/', import.meta.url);
const documents = readdirSync(DOCUMENTS).map((name) => readFileSync(new URL(name, DOCUMENTS), 'utf8'));

it('splits prose into sentences and leaves out marks, code and headings', () => {
  const text =
    '# Title\n\nThe *first* sentence is here. "And this," he said, "is the second." No.\n\n```\nlet x = 1. Y;\n```\n';
  expect(sentencesOf(text)).toEqual(['The first sentence is here.', '"And this," he said, "is the second."']);
});

it.each(documents)('summarizes each document in its own words, in order', (text) => {
  const { sentences, weights } = prepare(text);
  const best = bestOf(
    sentences.map((sentence, position) => scoreSentence(sentence, position, weights)),
    3,
  );
  expect(best).toHaveLength(3);
  expect([...best].sort((a, b) => sentences.indexOf(a) - sentences.indexOf(b))).toEqual(best);
});

it('prefers phrases that come again', () => {
  const [first] = keywordsOf(
    'The bounded queue is full. That bounded queue was kind. Some bread is sold.',
    3,
  );
  expect(first?.phrase).toBe('bounded queue');
});

it('replaces known words only, and says how many they were', () => {
  expect(translateWords('The queue and the xylophone')).toEqual({
    text: 'Die Warteschlange und die xylophone',
    known: 0.8,
  });
});
