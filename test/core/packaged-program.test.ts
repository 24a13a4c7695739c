import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { installCommand, packagedProgram, programWord } from '../../src/core/packaged-program.ts'
import { runnableText } from '../../src/rail/command-lines.ts'
import { systemRuntime } from '../../src/core/runtime.ts'

function makePackage(name = 'package'): string {
  const root = join(realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-packaged-'))), name)
  for (const path of ['hook/hook.cjs', 'dist/cli/bin.cjs', 'bin/skillrail', 'serves-all-skills']) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), '', { mode: 0o755 })
  }
  return root
}

function search(...path: readonly string[]) {
  return { env: { PATH: path.join(':') }, platform: process.platform, cwd: '/' }
}

describe('the command line of a package', () => {
  it.each(['hook/hook.cjs', 'dist/cli/bin.cjs'])('is found from %s', (file) => {
    const root = makePackage()
    expect(packagedProgram(join(root, file))).toBe(join(root, 'bin/skillrail'))
  })

  it('is not found from the sources, nor beside a program of somebody else', () => {
    expect(packagedProgram()).toBeUndefined()
    const other = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-other-')))
    mkdirSync(join(other, 'bin'))
    writeFileSync(join(other, 'bin/skillrail'), '', { mode: 0o755 })
    expect(packagedProgram(join(other, 'hook/hook.cjs'))).toBeUndefined()
  })

  it('is named by its path, unless the search path has another', () => {
    const own = join(makePackage(), 'bin/skillrail')
    const other = join(makePackage(), 'bin')
    expect(programWord(search('/usr/bin'), own)).toBe(own)
    expect(programWord(search(other), own)).toBe('skillrail')
    // The client has the package's folder on its own search path, and a terminal does not.
    expect(programWord(search(dirname(own)), own)).toBe(own)
    const links = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-links-')))
    symlinkSync(own, join(links, 'skillrail'))
    expect(programWord(search(links), own)).toBe(own)
  })

  it('is quoted where its path needs it', () => {
    const own = join(makePackage('a package'), 'bin/skillrail')
    expect(programWord(search(), own)).toBe(`'${own}'`)
  })

  it('is what a message recommends', () => {
    const own = join(makePackage(), 'bin/skillrail')
    const runtime = systemRuntime({ env: { PATH: '/usr/bin', HOME: '/nonexistent' } })
    const text = 'Run: skillrail trust, then skillrail chain plan ship.'
    expect(runnableText(text, runtime, own)).toBe(`Run: ${own} trust, then ${own} chain plan ship.`)
  })
})

describe('the command that installs a package', () => {
  const npm = (file: string, directory = '/home/me/app') =>
    installCommand(['ai@7'], join(file, 'node_modules/skillrail/dist/cli/bin.cjs'), directory)

  it.each([
    ['in the project that has Skillrail', '/home/me/app', 'npm install ai@7'],
    ['in a workspace of that project', '/home/me', 'npm install ai@7'],
    ['beside a global installation', '/usr/lib', 'npm install -g ai@7'],
    [
      'with a Skillrail of its own below npx',
      '/home/me/.npm/_npx/3f',
      'npm install skillrail ai@7',
    ],
  ])('installs it %s', (_, folder, command) => {
    expect(npm(folder)).toBe(command)
  })

  it('installs Skillrail with it beside the package of a client', () => {
    const file = join(makePackage(), 'dist/cli/bin.cjs')
    expect(installCommand(['ai@7'], file)).toBe(
      'npm install -g github:skillrail/skillrail#release ai@7',
    )
  })

  it('installs it in the clone', () => {
    expect(installCommand(['ai@7'])).toBe('npm install ai@7')
  })
})
