import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Packs what was built and installs it, as somebody would who only has the package. */
export default function setup(): void {
  const directory = mkdtempSync(join(tmpdir(), 'skillrail-packed-'))
  npm(root, 'pack', '--ignore-scripts', '--pack-destination', directory)
  const [tarball = ''] = readdirSync(directory)
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }')
  const packages = [join(directory, tarball), 'ai@7', '@ai-sdk/openai-compatible@3']
  npm(directory, 'install', '--prefer-offline', '--no-audit', '--no-fund', ...packages)
  process.env['SKILLRAIL_PACKED'] = join(directory, 'node_modules/skillrail')
}

function npm(cwd: string, ...args: string[]): void {
  execFileSync('npm', ['--silent', ...args], { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
}
