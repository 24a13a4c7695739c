import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'
import { readRows } from './rows.ts'
import { serversPage } from './servers-page.ts'

/** Where the tables are kept, when `SKILLRAIL_WRITE` is set. */
const path = 'docs/internals/servers.md'

/** Prints the tables of all suites at their end, and writes them into the documentation. */
export class ServersReporter implements Reporter {
  readonly #rows: string

  constructor(rows: string) {
    this.#rows = rows
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) =>
      [...module.children.allTests()].map((test) => ({
        block: test.parent.type === 'suite' ? test.parent.name : '',
        name: test.name,
        state: test.result().state,
      })),
    )
    const count = (state: string): number => tests.filter((test) => test.state === state).length
    const previous = existsSync(path) ? readFileSync(path, 'utf8') : ''
    const page = serversPage(readRows(this.#rows), tests, previous)
    rmSync(dirname(this.#rows), { recursive: true, force: true })
    process.stdout.write(
      `\n${page.tables}\n\n${count('passed')} passed, ${count('failed')} failed\n`,
    )
    if (process.env['SKILLRAIL_WRITE'] === undefined) return
    writeFileSync(path, page.text)
    execFileSync(process.execPath, ['node_modules/oxfmt/bin/oxfmt', path])
  }
}
