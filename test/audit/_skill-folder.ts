import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

export type Content = string | Uint8Array

/**
 * Makes a directory inside a new one, removed after the test, with a simple `SKILL.md` by default.
 */
export function skillFolder(files: Readonly<Record<string, Content>> = {}): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-audit-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const directory = join(root, 'deploy')
  for (const [path, content] of Object.entries({ 'SKILL.md': skillText(), ...files })) {
    const file = join(directory, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
    if (path.startsWith('bin/')) chmodSync(file, 0o755)
  }
  return directory
}

export function skillText(body = 'Deploy it.', more = '', name = 'deploy'): string {
  return `---\nname: ${name}\ndescription: Deploys. Use when asked to deploy.\n${more}---\n\n${body}\n`
}
