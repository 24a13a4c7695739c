// A machine whose clock is wrong: CLOCK_SHIFT milliseconds.
const right = Date.now.bind(Date)
Date.now = () => right() + Number(process.env.CLOCK_SHIFT)
