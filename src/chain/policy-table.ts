import { nearest, UsageError } from '../base/index.ts'
import type { ChainPolicy } from '../skill/index.ts'

/**
 * Reads `key=value` as given to `--set`: a policy key in the spelling of the metadata.
 * Throws {@link UsageError} for an unknown key and for a value that the key does not allow.
 */
export function parsePolicySetting(text: string): Partial<ChainPolicy> {
  const equals = text.indexOf('=')
  const key = equals === -1 ? text : text.slice(0, equals)
  const read = Object.hasOwn(readers, key) ? readers[key] : undefined
  if (read === undefined) throw unknownKey(key)
  const value = text.slice(equals + 1).trim()
  const setting = equals === -1 ? undefined : read.parse(value)
  if (setting === undefined) {
    throw new UsageError({
      code: 'wrong-use',
      message: `--set ${text}: ${key} must be ${read.allowed}`,
    })
  }
  return setting
}

interface SettingReader {
  allowed: string
  parse(value: string): Partial<ChainPolicy> | undefined
}

const readers: Readonly<Record<string, SettingReader>> = {
  async: flag((async) => ({ async })),
  continue_on_error: flag((continueOnError) => ({ continueOnError })),
  timeout: integer(0, (timeout) => ({ timeout })),
  max_depth: integer(1, (maxDepth) => ({ maxDepth })),
  parallel_limit: integer(1, (parallelLimit) => ({ parallelLimit })),
  validate_on_load: flag((validateOnLoad) => ({ validateOnLoad })),
  cleanup_after: flag((cleanupAfter) => ({ cleanupAfter })),
  early_exit_on: {
    allowed: 'none, failure, success or critical',
    parse: (value) =>
      value === 'none' || value === 'failure' || value === 'success' || value === 'critical'
        ? { earlyExitOn: value }
        : undefined,
  },
  continue_on_success: flag((continueOnSuccess) => ({ continueOnSuccess })),
  pass_state: flag((passState) => ({ passState })),
  retry_count: integer(1, (retryCount) => ({ retryCount })),
  retry_until: {
    allowed: 'none, stable or success',
    parse: (value) =>
      value === 'none' || value === 'stable' || value === 'success'
        ? { retryUntil: value }
        : undefined,
  },
  race_mode: flag((raceMode) => ({ raceMode })),
}

function flag(set: (value: boolean) => Partial<ChainPolicy>): SettingReader {
  return {
    allowed: 'true or false',
    parse: (value) => (value === 'true' || value === 'false' ? set(value === 'true') : undefined),
  }
}

function integer(minimum: number, set: (value: number) => Partial<ChainPolicy>): SettingReader {
  return {
    allowed: `a whole number from ${minimum}`,
    parse: (value) =>
      /^\d{1,9}$/.test(value) && Number(value) >= minimum ? set(Number(value)) : undefined,
  }
}

function unknownKey(key: string): UsageError {
  const names = Object.keys(readers)
  const meant = nearest(key, names)
  return new UsageError({
    code: 'wrong-use',
    message: `--set ${key}: there is no such setting of a chain`,
    hint: meant === undefined ? `Known are ${names.join(', ')}.` : `Did you mean ${meant}?`,
  })
}
