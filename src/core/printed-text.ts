import { stripVTControlCharacters } from 'node:util'

/**
 * Returns a program's output as a terminal shows it at the end, without escape sequences. If carriage
 * returns overwrite a line, as in a progress bar, the last part of the line remains.
 */
export function printedText(text: string): string {
  if (!/[\u001b\u009b\r]/.test(text)) return text
  const lines = stripVTControlCharacters(text)
    .replaceAll(/(?<!\r)\r+\n/g, '\n')
    .split('\n')
  return lines.map((line) => line.split('\r').findLast((part) => part !== '') ?? '').join('\n')
}
