import { scoredWords } from './words.ts'

const changingVerbs: ReadonlySet<string> = new Set(
  scoredWords(
    'create make add write update edit delete remove set send post push merge fork move rename ' +
      'upload insert drop clear close cancel start stop save put patch modify change replace new ' +
      'open submit approve publish deploy install book buy order schedule build draft compose generate',
  ),
)

/** Whether a word, in its scored form, asks for a change or names one. */
export function isChangingVerb(word: string): boolean {
  return changingVerbs.has(word)
}
