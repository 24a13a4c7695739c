import type { JsonValue } from '../../skill/model.ts'
import type { Parameter } from './parameter.ts'

/**
 * The text as a value that the parameter's schema accepts, or `undefined` where it cannot be one:
 * no number out of range, nothing outside the choices, no text that breaks a pattern.
 */
export function coerceText(text: string, parameter: Parameter): JsonValue | undefined {
  const value = plainValue(text.trim(), parameter)
  return value === undefined || !isAccepted(value, parameter) ? undefined : value
}

function plainValue(text: string, parameter: Parameter): JsonValue | undefined {
  if (parameter.choices.length > 0 && parameter.kind !== 'array') return choiceOf(text, parameter)
  switch (parameter.kind) {
    case 'integer':
      return /^[+-]?\d{1,15}$/.test(text) ? numberOf(text) : undefined
    case 'number':
      return /^[+-]?\d{1,15}(?:\.\d{1,15})?$/.test(text) ? numberOf(text) : undefined
    case 'boolean':
      return /^(?:true|yes|on)$/i.test(text)
        ? true
        : /^(?:false|no|off)$/i.test(text)
          ? false
          : undefined
    case 'array':
      return listOf(text, parameter)
    case 'object':
      return jsonObject(text)
    case 'string':
    case 'unknown':
      return text === '' ? undefined : text
  }
}

/** `-0` is 0, as it will be in the JSON that the tool gets. */
function numberOf(text: string): number {
  return Number(text) + 0
}

function choiceOf(text: string, { choices }: Parameter): JsonValue | undefined {
  const wanted = text.toLowerCase()
  return choices.find((choice) => textOf(choice) === wanted)
}

function textOf(choice: JsonValue): string {
  return (typeof choice === 'string' ? choice : JSON.stringify(choice)).toLowerCase()
}

function listOf(text: string, { items }: Parameter): JsonValue | undefined {
  if (items === undefined) return undefined
  const json = text.startsWith('[') ? parsed(text) : undefined
  const parts = Array.isArray(json)
    ? json.map((part) => (typeof part === 'string' ? part : JSON.stringify(part)))
    : text.split(/(?<!\s)\s*,\s*|,\s*|(?<!\s)\s+and\s+/).filter((part) => part !== '')
  const values = parts.map((part) => coerceText(part, items))
  return values.length > 0 && values.every((value) => value !== undefined) ? values : undefined
}

function jsonObject(text: string): JsonValue | undefined {
  const value = text.startsWith('{') ? parsed(text) : undefined
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isAccepted(value: JsonValue, parameter: Parameter): boolean {
  if (typeof value !== 'number') return true
  const { minimum = -Infinity, maximum = Infinity } = parameter
  return value >= minimum && value <= maximum
}
