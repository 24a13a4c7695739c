import { delimiter, join, resolve } from 'node:path'
import type { Setting, SettingValue } from './settings.ts'

export type SettingReading = { ok: true; value: SettingValue } | { ok: false; expected: string }

export interface PathBase {
  /** Relative paths are resolved against it. */
  base: string
  /** What `~/` stands for. */
  home: string
}

/** A value from an environment variable: lists are separated as the kind says. */
export function readSettingText(setting: Setting, text: string, paths: PathBase): SettingReading {
  if (setting.kind === 'paths') return readSettingValue(setting, split(text, delimiter), paths)
  if (setting.kind === 'names' || setting.kind === 'patterns' || setting.kind === 'words') {
    return readSettingValue(setting, split(text, /[\s,]+/), paths)
  }
  if (setting.kind === 'numbers') {
    return readSettingValue(setting, split(text, /[\s,]+/).map(numberIn), paths)
  }
  if (setting.kind !== 'integer') return readSettingValue(setting, text, paths)
  const number = /^\d{1,15}$/.test(text) ? Number(text) : undefined
  return readSettingValue(setting, number, paths)
}

/** A value from a configuration file. */
export function readSettingValue(
  setting: Setting,
  value: unknown,
  paths: PathBase,
): SettingReading {
  switch (setting.kind) {
    case 'paths':
      return isTexts(value)
        ? { ok: true, value: value.map((path) => absolute(path, paths)) }
        : { ok: false, expected: 'a list of paths' }
    case 'names':
      return isTexts(value) && value.every((name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
        ? { ok: true, value }
        : { ok: false, expected: 'a list of names of environment variables' }
    case 'patterns':
      return isTexts(value) && value.every((pattern) => /^[\w.*-]{1,200}$/.test(pattern))
        ? { ok: true, value }
        : { ok: false, expected: 'a list of names of tools, in which * stands for any characters' }
    case 'numbers': {
      const { minimum, maximum, most } = setting
      return isNumbers(value) &&
        value.length <= most &&
        value.every((item) => item >= minimum && item <= maximum)
        ? { ok: true, value }
        : { ok: false, expected: `a list of at most ${most} numbers from ${minimum} to ${maximum}` }
    }
    case 'words':
      return isTexts(value) && value.every((word) => !/[\s,]/.test(word))
        ? { ok: true, value }
        : { ok: false, expected: 'a list of words' }
    case 'text':
      return typeof value === 'string' && !/[\r\n]/.test(value)
        ? { ok: true, value }
        : { ok: false, expected: 'a text on one line' }
    case 'address':
      return typeof value === 'string' && (value === '' || isAddress(value))
        ? { ok: true, value }
        : { ok: false, expected: 'an address such as http://127.0.0.1:8080' }
    case 'choice':
      return typeof value === 'string' && setting.choices.includes(value)
        ? { ok: true, value }
        : { ok: false, expected: setting.choices.map((choice) => `"${choice}"`).join(' or ') }
    case 'integer': {
      const { minimum, maximum } = setting
      return typeof value === 'number' &&
        Number.isInteger(value) &&
        value >= minimum &&
        value <= maximum
        ? { ok: true, value }
        : { ok: false, expected: `a whole number from ${minimum} to ${maximum}` }
    }
  }
}

function isAddress(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? '')
}

function split(text: string, separator: string | RegExp): string[] {
  return text.split(separator).filter((part) => part !== '')
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string' && item !== '')
}

function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((item) => Number.isFinite(item))
}

function numberIn(text: string): number | undefined {
  return /^\d{1,9}(?:\.\d{1,3})?$/.test(text) ? Number(text) : undefined
}

function absolute(path: string, paths: PathBase): string {
  if (path === '~') return paths.home
  return path.startsWith('~/') ? join(paths.home, path.slice(2)) : resolve(paths.base, path)
}
