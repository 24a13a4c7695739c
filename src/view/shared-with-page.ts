/** The largest question of the page, in bytes of JSON: a pasted prompt. */
export const largestQuestion = 262_144
