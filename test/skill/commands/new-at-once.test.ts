import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { bin } from '../../command-line.ts'
import { runInProcess } from '../../run-in-process.ts'

const description = 'Does it. Use when asked to do it.'

function place(): { root: string; home: string } {
  const root = mkdtempSync(join(tmpdir(), 'skillrail-new-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'home'))
  return { root, home: join(root, 'home') }
}

it('creates a skill once, however many commands run at once', async () => {
  const { root, home } = place()
  const env = { PATH: process.env['PATH'], HOME: home }
  const codes = await Promise.all(
    Array.from({ length: 6 }, () => {
      const args = [bin, 'new', 'tool', '--description', description]
      const child = spawn(process.execPath, args, { cwd: root, env, stdio: 'ignore' })
      return new Promise<number | null>((resolve) => child.on('close', resolve))
    }),
  )
  expect(codes.filter((code) => code === 0)).toEqual([0])
  expect(codes.filter((code) => code === 1)).toHaveLength(5)
  expect(readdirSync(join(root, '.agents/skills/tool'))).toEqual(['SKILL.md'])
})

const shell = (line: string): boolean => spawnSync('/bin/sh', ['-c', line]).status === 0

it.runIf(shell('unshare --mount true'))(
  'leaves no directory on a full disk (needs the right to mount)',
  async () => {
    const { root, home } = place()
    const disk = join(root, 'disk')
    mkdirSync(disk)
    if (!shell(`mount -t tmpfs -o nr_inodes=2 none '${disk}'`)) return
    try {
      const words = ['new', 'tool', '--dir', disk, '--description', description]
      const { code, stderr } = await runInProcess(words, { cwd: root, home })
      expect([code, readdirSync(disk)]).toEqual([1, []])
      expect(stderr).toContain('the disk is full')
    } finally {
      shell(`umount '${disk}'`)
    }
  },
)
