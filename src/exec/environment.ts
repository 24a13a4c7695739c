import type { Runtime } from '../core/runtime.ts'

/**
 * The environment of a script: where programs are, who runs it, the locale, and what the
 * configuration names. Everything else, credentials above all, stays here.
 *
 * @param names further variables to pass on, from `run.environment`.
 * @param own what we tell the script, `SKILLRAIL_…`; it takes precedence.
 */
export function childEnvironment(
  runtime: Pick<Runtime, 'env' | 'platform'>,
  names: readonly string[],
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  // A run leaves no caches among the files of a skill, whose digest counts.
  return { ...passedOn(runtime, names), PYTHONDONTWRITEBYTECODE: '1', ...own }
}

/** The variables that every program needs, and `names`; without regard to case on Windows. */
export function passedOn(
  { env, platform }: Pick<Runtime, 'env' | 'platform'>,
  names: readonly string[],
): Record<string, string> {
  const windows = platform === 'win32'
  const keyOf = (name: string): string => (windows ? name.toUpperCase() : name)
  const wanted = new Set([...everywhere, ...(windows ? onWindows : []), ...names].map(keyOf))
  const environment: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) {
    const key = keyOf(name)
    if (value !== undefined && (wanted.has(key) || key.startsWith('LC_'))) environment[name] = value
  }
  return environment
}

/** A shell that is not told its user looks them up at every start, a twentieth of its CPU. */
const everywhere = 'PATH HOME LOGNAME SHELL USER LANG LANGUAGE TZ TMPDIR'.split(' ')

/** Without these, programs on Windows do not start or do not find their directories. */
const onWindows =
  'SYSTEMROOT WINDIR COMSPEC PATHEXT TEMP TMP USERPROFILE APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES SYSTEMDRIVE'.split(
    ' ',
  )
