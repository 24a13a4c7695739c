import type { Runtime } from '../../base/index.ts'

/**
 * The environment of a server: what a client passes on by default, credentials left out, and what
 * its configuration says, which wins.
 */
export function serverEnvironment(
  runtime: Pick<Runtime, 'env' | 'platform'>,
  configured: Readonly<Record<string, string>>,
): Record<string, string> {
  const names = runtime.platform === 'win32' ? passedOnWindows : passedOn
  const wanted = new Set<string>(names)
  const environment: Record<string, string> = {}
  for (const [name, value] of Object.entries(runtime.env)) {
    const key = runtime.platform === 'win32' ? name.toUpperCase() : name
    // A value that begins so is a function that a shell exported.
    if (value === undefined || value.startsWith('()')) continue
    if (wanted.has(key) || key.startsWith('LC_')) environment[name] = value
  }
  return { ...environment, ...configured }
}

/** Whose home it is, where programs are, the locale, and the screen that a browser opens on. */
const passedOn = [
  'HOME',
  'LOGNAME',
  'USER',
  'PATH',
  'SHELL',
  'TERM',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TMPDIR',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'XAUTHORITY',
  'XDG_RUNTIME_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
] as const

const passedOnWindows = [
  'APPDATA',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'PATH',
  'PATHEXT',
  'PROCESSOR_ARCHITECTURE',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'PROGRAMFILES(X86)',
  'PROGRAMW6432',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  'TMP',
  'USERNAME',
  'USERPROFILE',
  'WINDIR',
] as const
