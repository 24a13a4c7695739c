import type { Runtime } from '../base/index.ts'

/**
 * The environment of a script: where programs are, who runs it, the locale, and what the
 * configuration names. Everything else, credentials above all, stays here.
 *
 * @param names further variables to pass on, from `run.environment`.
 * @param own what we tell the script, `SKILLRAIL_…`; it wins.
 */
export function childEnvironment(
  runtime: Pick<Runtime, 'env' | 'platform'>,
  names: readonly string[],
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const windows = runtime.platform === 'win32'
  const wanted = new Set(
    [...passedOn, ...(windows ? passedOnWindows : []), ...names].map((name) =>
      windows ? name.toUpperCase() : name,
    ),
  )
  const environment: Record<string, string> = {}
  for (const [name, value] of Object.entries(runtime.env)) {
    const key = windows ? name.toUpperCase() : name
    if (value !== undefined && (wanted.has(key) || key.startsWith('LC_'))) environment[name] = value
  }
  // A run leaves no caches among the files of a skill, whose digest counts.
  return { ...environment, PYTHONDONTWRITEBYTECODE: '1', ...own }
}

/** A shell that is not told these looks its user up at every start, a twentieth of its CPU. */
const user = ['HOME', 'LOGNAME', 'SHELL', 'USER']

const passedOn = ['PATH', ...user, 'LANG', 'LANGUAGE', 'TZ', 'TMPDIR']

/** Without these, programs on Windows do not start or do not find their directories. */
const passedOnWindows = [
  'SYSTEMROOT',
  'WINDIR',
  'COMSPEC',
  'PATHEXT',
  'TEMP',
  'TMP',
  'USERPROFILE',
  'APPDATA',
  'LOCALAPPDATA',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'SYSTEMDRIVE',
]
