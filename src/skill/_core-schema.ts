/** What the core schema of YAML 1.2 makes of a plain scalar; everything else is a string. */
export function resolvePlain(text: string): string | number | boolean | null {
  const first = text.charCodeAt(0)
  // Only these begin a null, a boolean or a number: ~ n N t T f F + - . 0-9, and nothing at all.
  if (!(first <= 57 && first >= 43) && !'~nNtTfF'.includes(text.charAt(0))) return text
  if (/^(?:~|null|Null|NULL)?$/.test(text)) return null
  if (/^(?:true|True|TRUE)$/.test(text)) return true
  if (/^(?:false|False|FALSE)$/.test(text)) return false
  return resolveNumber(text)
}

function resolveNumber(text: string): string | number {
  if (/^[-+]?[0-9]+$/.test(text)) return Number.parseInt(text, 10)
  if (/^0o[0-7]+$/.test(text)) return Number.parseInt(text.slice(2), 8)
  if (/^0x[0-9a-fA-F]+$/.test(text)) return Number.parseInt(text.slice(2), 16)
  if (/^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/.test(text)) return Number(text)
  if (/^\+?\.(?:inf|Inf|INF)$/.test(text)) return Infinity
  if (/^-\.(?:inf|Inf|INF)$/.test(text)) return -Infinity
  return /^\.(?:nan|NaN|NAN)$/.test(text) ? Number.NaN : text
}
