import { chmodSync, existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isPageAddress, openAddress } from '../../src/core/open-address.ts'
import { systemRuntime } from '../../src/core/runtime.ts'

const pages = [
  'https://example.com/authorize?a=b',
  'http://127.0.0.1:8080/x',
  'http://localhost/x',
  'http://[::1]:1/',
]

const others = [
  'file:///etc/passwd',
  'file://host/share/x.exe',
  'vscode://open?x',
  'ms-msdt:/id',
  'ssh://host',
  'javascript:alert(1)',
  'data:text/html,x',
  'http://example.com/authorize',
  'http://127.0.0.1.example.com/',
  'http://localhost.example.com/',
  'http://169.254.169.254/latest',
  'https:',
  'calc.exe',
  String.raw`\\host\share\x.exe`,
  '',
]

describe('an address that is opened', () => {
  it.each(pages)('is opened as %s', (address) => expect(isPageAddress(address)).toBe(true))

  it.each(others)('is refused as %j', (address) => expect(isPageAddress(address)).toBe(false))

  it.each(others)('starts no program for %j', async (address) => {
    const directory = mkdtempSync(join(tmpdir(), 'open-address-'))
    const opener = join(directory, 'xdg-open')
    writeFileSync(opener, `#!/bin/sh\n: > ${join(directory, 'opened')}\n`)
    chmodSync(opener, 0o755)
    const env = { PATH: `${directory}:/usr/bin:/bin` }
    const runtime = {
      ...systemRuntime({ cwd: '/usr', home: directory, env }),
      platform: 'linux' as const,
    }
    expect(await openAddress(address, runtime)).toBe(false)
    expect(existsSync(join(directory, 'opened'))).toBe(false)
    expect(await openAddress('https://example.com/', runtime)).toBe(true)
    expect(existsSync(join(directory, 'opened'))).toBe(true)
  })
})
