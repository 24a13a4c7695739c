import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { saveContent, saveText } from '../../../src/tools/call/content.ts'
import type { ToolOutcome } from '../../../src/tools/model.ts'

let root: string
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'save-content-')))
})

const now = Date.UTC(2026, 10, 22, 1, 45, 6)
const bytes = Buffer.from([1, 2, 3]).toString('base64')
const outcome: ToolOutcome = {
  isError: false,
  content: [
    { type: 'image', mimeType: 'image/png', data: bytes },
    { type: 'text', text: 'words' },
    { type: 'image', mimeType: 'image/png', data: bytes },
    { type: 'resource', uri: 'x://y', mimeType: '../../evil', data: bytes },
  ],
  size: 9,
}

it('writes each picture to a new file that only the user can read', () => {
  const files = saveContent(outcome, 'take_screenshot', { directory: join(root, 'out'), now })
  expect(files.map(({ path }) => path)).toEqual([
    join(root, 'out', 'take_screenshot-20261122-014506.png'),
    join(root, 'out', 'take_screenshot-20261122-014506-2.png'),
    join(root, 'out', 'take_screenshot-20261122-014506.bin'),
  ])
  expect(files.map(({ path }) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600, 0o600])
  expect([...readFileSync(files[0]?.path ?? '')]).toEqual([1, 2, 3])
})

it('overwrites neither a file nor the target of a link', () => {
  writeFileSync(join(root, 'x-20261122-014506.txt'), 'mine')
  writeFileSync(join(root, 'target'), 'mine')
  symlinkSync(join(root, 'target'), join(root, 'x-20261122-014506-2.txt'))
  symlinkSync(join(root, 'nowhere'), join(root, 'x-20261122-014506-3.txt'))
  const path = saveText('new', 'x', 'txt', { directory: root, now })
  expect(path).toBe(join(root, 'x-20261122-014506-4.txt'))
  expect(readFileSync(join(root, 'target'), 'utf8')).toBe('mine')
  expect(readdirSync(root)).not.toContain('nowhere')
})

it('makes a safe file name from any tool name', () => {
  const path = saveText('x', '../../etc/passwd\u0000', 'json', { directory: root, now })
  expect(path).toBe(join(root, '-etc-passwd--20261122-014506.json'))
})

it('follows no link out of the project for its own directory', () => {
  const project = join(root, 'project')
  mkdirSync(project)
  mkdirSync(join(root, 'elsewhere'))
  symlinkSync(join(root, 'elsewhere'), join(project, '.skillrail'))
  const place = { directory: join(project, '.skillrail', 'results'), within: project, now }
  const unsaved = expect.objectContaining({ code: 'result-unsaved' })
  expect(() => saveText('x', 'x', 'txt', place)).toThrow(unsaved)
})

it('names the path that it could not write', () => {
  writeFileSync(join(root, 'file'), '')
  const attempt = () => saveContent(outcome, 'x', { directory: join(root, 'file'), now })
  const hint = 'Name another place with --output.'
  expect(attempt).toThrow(expect.objectContaining({ code: 'result-unsaved', hint }))
})
