import { appendFileSync, existsSync, readFileSync } from 'node:fs'

/** A line of one of the tables that the suites make. */
export type Row =
  | { table: 'servers'; server: string; package: string; transport: string; tools: number }
  | {
      table: 'requests'
      request: string
      tool: string
      parameters: string
      decision: string
      ok: boolean
    }
  | { table: 'seed'; request: string; seed: string; real: string; routed: string; note: string }

/** Keeps a line for the report that comes at the end of all suites. */
export function addRow(row: Row): void {
  const path = process.env['SKILLRAIL_SERVER_ROWS']
  if (path !== undefined) appendFileSync(path, `${JSON.stringify(row)}\n`)
}

export function readRows(path: string): Row[] {
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  return lines.map((line): Row => JSON.parse(line))
}
