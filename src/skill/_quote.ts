/**
 * A text as a YAML scalar on one line: plain where every reader takes it for the same string, else
 * in double quotes, whose escapes are those of JSON.
 */
export function quoteText(text: string): string {
  const plain =
    /^[A-Za-z\u00c0-\uffff/(](?:[^\n\r\t]*[^\s:])?$/.test(text) &&
    !/: |\s#|[\p{Cc}\p{Cs}\p{Cn}\u2028\u2029\ufeff]/u.test(text) &&
    !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(text)
  return plain ? text : doubleQuoted(text)
}

/** The text in double quotes, whatever it is. */
export function doubleQuoted(text: string): string {
  return JSON.stringify(text).replace(/[\p{Cc}\u2028\u2029\ufeff\ufffe\uffff]/gu, escaped)
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
