import { expectTypeOf, it } from 'vitest'
import type { WorkflowGateOptions } from '../../../src/tools/call/gate.ts'

it('cannot be opened without saying which workflows may make calls', () => {
  // Checked by the compiler: a caller that forgets it would obey the workflows of any project.
  expectTypeOf<object>().not.toExtend<Pick<WorkflowGateOptions, 'blockOf'>>()
})
