/* Timers of a PC whose frequency is fixed, against which the TSC is measured. */
#pragma once

#include "time/estimate.h"

/* Not known when there is no such timer, when it stands still, or when it contradicts itself. */
struct bounds tsc_by_pit(void);
struct bounds tsc_by_pm_timer(uint16_t port);
