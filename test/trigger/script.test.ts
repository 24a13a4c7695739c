import { expect, it } from 'vitest'
import { scriptOrigin, scriptText } from '../../src/trigger/export-triggers.ts'
import { describeScript } from './_script-suite.ts'

describeScript({ name: 'sh with the awk and grep of this machine', shell: ['sh'], tools: {} })

it('distinguishes a Skillrail script from a changed one', () => {
  expect(scriptOrigin(scriptText())).toBe('ours')
  expect(scriptOrigin(`${scriptText()}\n`)).toBe('foreign')
  expect(scriptOrigin('#!/bin/sh\necho mine\n')).toBe('foreign')
})
