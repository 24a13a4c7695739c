import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Runtime } from '#core/runtime'
import { tried } from './process-group.ts'

export function findProgram(
  name: string,
  { env, platform }: Pick<Runtime, 'env' | 'platform'>,
): string | undefined {
  const extensions = platform === 'win32' ? (env['PATHEXT'] ?? '.EXE;.CMD').split(';') : ['']
  for (const directory of (env['PATH'] ?? '').split(delimiter)) {
    if (directory === '') continue
    for (const extension of extensions) {
      const path = join(directory, name + extension)
      if (isExecutable(path)) return path
    }
  }
  return undefined
}

function isExecutable(path: string): boolean {
  return tried(false, () => {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  })
}
