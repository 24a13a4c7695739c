/**
 * Text from a skill, a tool or a model made safe for a terminal: control characters, bidirectional
 * overrides, invisible and tag characters become visible escapes such as `\x1b` or `\u{202e}`.
 * Newlines and tabs stay; CRLF becomes a newline.
 */
export function safeText(text: string): string {
  if (ordinary.test(text) || !dangerous.test(text)) return text
  return text.replaceAll('\r\n', '\n').replace(dangerousAll, escape)
}

/** {@link safeText} on one line: newlines and tabs become a single space. */
export function safeLine(text: string): string {
  return safeText(text).replace(/[\n\t]+/g, ' ')
}

/** Nearly every text; the other pattern knows Unicode and takes milliseconds to compile. */
const ordinary = /^[\t\n\u0020-\u007e]*$/

// C0 without \t and \n, DEL, C1; line and paragraph separator; soft hyphen, Arabic letter mark,
// Hangul and Khmer fillers, Mongolian vowel separator; zero-width characters, bidirectional marks,
// embeddings, overrides and isolates; invisible operators; BOM; interlinear annotation; what is no
// character and no XML may contain; variation selector supplement; tags; lone surrogates. Joiners
// inside emoji and ordinary variation selectors stay: a terminal needs them to draw what the writer
// meant.
const invisible =
  '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5' +
  '\\u180e\\u200b\\u200c\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0' +
  '\\ufff0-\\ufffb\\ufffe\\uffff\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]' +
  '|\\p{Surrogate}|(?<!\\p{Extended_Pictographic}\\ufe0f?|\\p{Emoji_Modifier})\\u200d'
const dangerous = new RegExp(invisible, 'u')
const dangerousAll = new RegExp(invisible, 'gu')

function escape(character: string): string {
  const code = character.codePointAt(0) ?? 0
  const digits = code.toString(16)
  return code < 0x100 ? `\\x${digits.padStart(2, '0')}` : `\\u{${digits}}`
}
