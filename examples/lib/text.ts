/** Words that carry no topic. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'a about above after again all also although always an and any are as at be because been before being below ' +
    'between both but by can cannot could did do does doing done down during each either else even ever every few ' +
    'first for from further get gets had has have having he her here him his how however i if in into is it its itself ' +
    'just last less let like long made make makes many may me might more most much must my never next no nor not ' +
    'nothing now of off often on once one only or other others our out over own same say says see several she should ' +
    'since so some something soon still such take takes than that the their them then there these they thing things ' +
    'this those though three through time to too two under until up upon us use used uses very was way we well were ' +
    'what when where which while who whole whom whose why will with within without would yet you your'
  ).split(' '),
);

/** Takes Markdown's marks away and keeps its prose; code blocks and tables are no prose. */
export function proseOf(markdown: string): string {
  return markdown
    .replace(/```[\s\S]*?```/g, '\n')
    .replace(/^\|.*$/gm, '')
    .replace(/^#+\s*(.*)$/gm, '$1.\n')
    .replace(/^\s*[-*]\s+/gm, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*_`]/g, '');
}

/** Sentences in order; what is shorter than four words is a heading or a fragment and is left out. */
export function sentencesOf(markdown: string): string[] {
  return proseOf(markdown)
    .replace(/\s+/g, ' ')
    .split(/(?<=[.!?]["')]?)\s+(?=[\p{Lu}"'(])/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => wordsOf(sentence).length >= 4);
}

/** Words in lower case, without punctuation. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}'-]*/gu) ?? [];
}

/** The words of `text` that carry a topic. */
export function topicWordsOf(text: string): string[] {
  return wordsOf(text).filter((word) => word.length > 2 && !STOP_WORDS.has(word));
}
