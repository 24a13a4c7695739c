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
  if (setting.kind === 'names') return readSettingValue(setting, split(text, /[\s,]+/), paths)
  if (setting.kind === 'choice') return readSettingValue(setting, text, paths)
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

function split(text: string, separator: string | RegExp): string[] {
  return text.split(separator).filter((part) => part !== '')
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string' && item !== '')
}

function absolute(path: string, paths: PathBase): string {
  if (path === '~') return paths.home
  return path.startsWith('~/') ? join(paths.home, path.slice(2)) : resolve(paths.base, path)
}
