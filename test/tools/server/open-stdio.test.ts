import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemRuntime } from '../../../src/core/runtime.ts'
import { openServers } from '../../../src/tools/server/pool.ts'
import { testServer } from './_servers.ts'

describe.skipIf(process.platform === 'win32')('a server that cannot be started', () => {
  let directory: string
  beforeEach(() => {
    directory = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-open-stdio-')))
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  async function refusal(command: string, cwd?: string): Promise<string> {
    const transport = { kind: 'stdio', command, cwd, args: [], env: {} } as const
    const runtime = systemRuntime({ env: { PATH: process.env['PATH'] }, cwd: directory })
    const pool = openServers([{ ...testServer('a', ''), transport }], { runtime })
    try {
      return await pool.get('a').then(
        () => 'it was started',
        (error: unknown) => String(error),
      )
    } finally {
      await pool.close()
    }
  }

  it.each([
    ['#!/bin/sh\r\n', 'its first line, #!/bin/sh, ends with a carriage return'],
    ['#!/usr/bin/env node\r\n', 'its first line, #!/usr/bin/env node, ends with a carriage return'],
    ['#!/bin/sh -e\r\n', 'its first line, #!/bin/sh -e, ends with a carriage return'],
    ['#! /none/such\n', 'its first line names the interpreter /none/such, which does not exist'],
    ['#!/bin/sh\nexit 127\n', 'The server a did not start: it ended with exit code 127'],
  ])('has an error that names what its script is missing: %j', async (text, expected) => {
    const command = join(directory, 'server.sh')
    writeFileSync(command, text, { mode: 0o755 })
    expect(await refusal(command)).toContain(expected)
    expect(await refusal('./server.sh', directory)).toContain(expected)
  })

  it('has an error for a missing program and for one without permission to execute', async () => {
    expect(await refusal('./gone')).toMatch(/could not be started: there is no program \.\/gone$/)
    expect(await refusal('no-such-program')).toContain(
      'there is no program no-such-program on the search path',
    )
    writeFileSync(join(directory, 'plain'), '', { mode: 0o600 })
    execFileSync('mkfifo', ['-m', '755', join(directory, 'pipe')])
    for (const file of ['./plain', './pipe']) {
      expect(await refusal(file)).toContain(`permission to execute ${file} is denied`)
    }
  })

  it('has an error for a missing directory', async () => {
    const gone = join(directory, 'gone')
    expect(await refusal(process.execPath, gone)).toMatch(
      new RegExp(`the directory it is to run in, ${gone}, does not exist$`),
    )
  })
})
