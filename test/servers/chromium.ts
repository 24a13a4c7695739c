import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from './recipes.ts'

export interface ChromiumOptions {
  /** The work while the page is open. */
  until: Promise<unknown>
  /** Names of hosts that lead to this machine. */
  names?: readonly string[]
}

/** Opens an address in a separate real browser, and closes it afterwards. */
export async function openInChromium(
  address: string,
  { until, names = [] }: ChromiumOptions,
): Promise<void> {
  const profile = mkdtempSync(join(tmpdir(), 'skillrail-chromium-'))
  const rules = names.map((name) => `MAP ${name} 127.0.0.1`).join(',')
  const browser = spawn(
    chromium,
    [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-popup-blocking',
      `--user-data-dir=${profile}`,
      ...(rules === '' ? [] : [`--host-resolver-rules=${rules}`]),
      address,
    ],
    { stdio: 'ignore', detached: true, env: { PATH: '/usr/bin:/bin', HOME: profile } },
  )
  try {
    await Promise.race([until, endOf(browser)])
  } finally {
    await close(browser)
    rmSync(profile, { recursive: true, force: true, maxRetries: 10 })
  }
}

async function endOf(browser: ChildProcess): Promise<never> {
  await new Promise((resolve) => browser.once('close', resolve))
  throw new Error('the browser ended')
}

async function close(browser: ChildProcess): Promise<void> {
  if (browser.exitCode !== null || browser.pid === undefined) return
  const closed = new Promise((resolve) => browser.once('close', resolve))
  process.kill(-browser.pid, 'SIGKILL')
  await closed
}
