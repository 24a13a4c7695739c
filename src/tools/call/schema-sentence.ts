/** What a value must be that a keyword of its schema refuses; a part of a sentence about it. */
export function schemaSentence(keyword: string, params: Readonly<Record<string, unknown>>): string {
  const { limit, type, pattern, format, multipleOf, allowedValue } = params
  const amount = String(limit)
  switch (keyword) {
    case 'type':
      return `must be ${[type].flat().map(named).join(' or ')}`
    case 'minItems':
      return `must have ${plural(limit, 'item')} or more`
    case 'maxItems':
      return `must have ${plural(limit, 'item')} at most`
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have ${plural(limit, 'character')} or more`
    case 'maxLength':
      return `must have ${plural(limit, 'character')} at most`
    case 'minProperties':
      return `must have ${plural(limit, 'field')} or more`
    case 'maxProperties':
      return `must have ${plural(limit, 'field')} at most`
    case 'minimum':
      return `must be ${amount} or more`
    case 'maximum':
      return `must be ${amount} or less`
    case 'exclusiveMinimum':
      return `must be more than ${amount}`
    case 'exclusiveMaximum':
      return `must be less than ${amount}`
    case 'multipleOf':
      return `must be a multiple of ${String(multipleOf)}`
    case 'uniqueItems':
      return 'must have no item twice'
    case 'pattern':
      return `must match the pattern ${String(pattern)}`
    case 'format':
      return `must have the format ${String(format)}`
    case 'const':
      return `must be ${JSON.stringify(allowedValue)}`
    case 'anyOf':
    case 'oneOf':
      return 'must fit one of the shapes that its schema allows'
    case 'contains':
      return 'lacks an item that its schema wants'
    case 'false schema':
      return 'is not allowed'
    default:
      return `breaks the rule "${keyword}" of its schema`
  }
}

function named(type: unknown): string {
  if (type === 'null') return 'null'
  const word = String(type)
  return /^[aio]/.test(word) ? `an ${word}` : `a ${word}`
}

function plural(count: unknown, noun: string): string {
  return `${String(count)} ${noun}${count === 1 ? '' : 's'}`
}
