import fc from 'fast-check'
import { testSeed } from './test-seed.ts'

// Random cases are the same in every run, so that a change decides whether a test passes.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: testSeed })
