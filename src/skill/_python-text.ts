/**
 * Strings as Python 3.11, which runs the reference validator, sees them: Unicode 14, its own set of
 * blanks, lengths in code points.
 */

/** Letters, digits and compatibility forms that came after Unicode 14; to Python they are unassigned. */
const laterCharacters =
  /[\u088f\u0c5c\u0cdc\u1c89\u1c8a\ua7cb-\ua7cf\ua7d2\ua7d4\ua7da-\ua7f1\u{105c0}-\u{105f3}\u{10940}-\u{10959}\u{10d40}-\u{10d85}\u{10ec2}-\u{10ec7}\u{1123f}-\u{11240}\u{11380}-\u{113d3}\u{116d0}-\u{116e3}\u{11bc0}-\u{11bf9}\u{11db0}-\u{11de9}\u{11f02}-\u{11f59}\u{1342f}\u{13441}-\u{143fa}\u{16100}-\u{16139}\u{16d40}-\u{16d79}\u{16ea0}-\u{16ed3}\u{16ff2}-\u{16ff6}\u{187f8}-\u{187ff}\u{18cff}\u{18d09}-\u{18df2}\u{1b132}\u{1b155}\u{1ccd6}-\u{1ccf9}\u{1d2c0}-\u{1d2d3}\u{1df25}-\u{1df2a}\u{1e030}-\u{1e06d}\u{1e4d0}-\u{1e6ff}\u{2b739}-\u{2b73f}\u{2cea2}-\u{2cead}\u{2ebf0}-\u{2ee5d}\u{31350}-\u{33479}]/u
const laterRuns = new RegExp(`(${laterCharacters.source})`, 'u')

const blank = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/

/** `str.strip()` */
export function pythonStrip(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && blank.test(text.charAt(start))) start++
  while (end > start && blank.test(text.charAt(end - 1))) end--
  return text.slice(start, end)
}

/** `len()` */
export function pythonLength(text: string): number {
  let length = text.length
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) < 0xd800) continue
    if ((text.codePointAt(at) ?? 0) > 0xffff) {
      length--
      at++
    }
  }
  return length
}

/** `unicodedata.normalize('NFKC', …)` */
export function pythonNfkc(text: string): string {
  if (isAscii(text)) return text
  if (!laterCharacters.test(text)) return text.normalize('NFKC')
  return text
    .split(laterRuns)
    .map((part, index) => (index % 2 === 0 ? part.normalize('NFKC') : part))
    .join('')
}

/** Whether `str.lower()` would change nothing. */
export function isPythonLower(text: string): boolean {
  if (isAscii(text)) return !/[A-Z]/.test(text)
  for (const character of text) {
    if (character !== character.toLowerCase() && !laterCharacters.test(character)) return false
  }
  return true
}

/** Whether every character is a hyphen or alphanumeric by `str.isalnum()`. */
export function isPythonName(text: string): boolean {
  if (isAscii(text)) return /^[A-Za-z0-9-]*$/.test(text)
  return /^[\p{L}\p{N}-]*$/u.test(text) && !laterCharacters.test(text)
}

function isAscii(text: string): boolean {
  return !/[^\x00-\x7f]/.test(text)
}
