use crate::clock::nanos;
use crate::random::Random;
use std::time::Duration;

/// How a duration is distributed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Durations {
    /// With this mean.
    Exponential(Duration),
    /// With this median, and this standard deviation of the logarithm.
    LogNormal(Duration, f64),
}

impl Durations {
    pub(crate) fn draw(&self, random: &mut Random) -> f64 {
        match self {
            Durations::Exponential(mean) => nanos(*mean) * random.exponential(),
            Durations::LogNormal(median, spread) => nanos(*median) * (spread * random.normal()).exp(),
        }
    }

    /// In nanoseconds.
    pub(crate) fn mean(&self) -> f64 {
        match self {
            Durations::Exponential(mean) => nanos(*mean),
            Durations::LogNormal(median, spread) => nanos(*median) * (spread * spread / 2.0).exp(),
        }
    }
}

/// When somebody runs on the other hyperthread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Company {
    /// Never.
    Never,
    /// Always, though what runs there changes.
    Always,
    /// Now and then.
    Stretches {
        /// How long this core is alone.
        alone: Durations,
        /// How long it is shared.
        shared: Durations,
    },
}

/// How long the same program runs on the other hyperthread where somebody always does.
const SAME_COMPANY: Durations = Durations::Exponential(Duration::from_millis(2));

impl Company {
    /// A core that is alone nearly always: shared for some 300 µs about every 30 ms.
    pub const QUIET: Company = Company::Stretches {
        alone: Durations::LogNormal(Duration::from_millis(25), 0.7),
        shared: Durations::LogNormal(Duration::from_micros(250), 0.6),
    };
    /// Alone for some milliseconds, shared for as long.
    pub const MIXED: Company = Company::Stretches {
        alone: Durations::LogNormal(Duration::from_millis(3), 0.8),
        shared: Durations::LogNormal(Duration::from_millis(2), 0.8),
    };
    /// Alone for no more than 5 to 200 µs (in 95 of 100 cases), shared three quarters of the time.
    pub const NOISY: Company = Company::Stretches {
        alone: Durations::LogNormal(Duration::from_micros(32), 0.92),
        shared: Durations::LogNormal(Duration::from_micros(110), 0.8),
    };

    /// Mean durations alone and shared, in nanoseconds, where both happen.
    fn means(&self) -> Option<(f64, f64)> {
        match self {
            Company::Never | Company::Always => None,
            Company::Stretches { alone, shared } => Some((alone.mean(), shared.mean())),
        }
    }

    /// The share of time in which the core is shared, in the long run.
    pub fn shared_share(&self) -> f64 {
        match self.means() {
            Some((alone, shared)) => shared / (alone + shared),
            None => f64::from(u8::from(*self == Company::Always)),
        }
    }
}

/// Whoever uses the sibling hyperthread of a core.
///
/// In a shared stretch the canary is slower and entries cost more, by factors of that stretch; chains of dependent
/// instructions do not notice. For a while after it, entries still cost more though the canary is quiet again.
#[derive(Debug, Clone, PartialEq)]
pub struct Neighbour {
    /// Who is there from which time since the machine started on; times ascend. Before the first of them: nobody.
    pub company: Vec<(Duration, Company)>,
    /// How much longer independent instructions take in a shared stretch: least and greatest factor.
    pub canary: (f64, f64),
    /// How much longer entries take in a shared stretch.
    pub entry: (f64, f64),
    /// Standard deviation of these two within a stretch, as a part of them; they change every [`Neighbour::PIECE`].
    pub within: f64,
    /// How long entries take longer after a shared stretch.
    pub aftermath: (Duration, Duration),
    /// How much longer they take then.
    pub aftermath_entry: (f64, f64),
}

impl Neighbour {
    /// Mean time after which the factors of a stretch change a little.
    pub const PIECE: Duration = Duration::from_micros(20);

    /// The same company all the time.
    pub fn new(company: Company) -> Neighbour {
        Neighbour::changing(vec![(Duration::ZERO, company)])
    }

    /// Other company from given times on.
    pub fn changing(company: Vec<(Duration, Company)>) -> Neighbour {
        Neighbour {
            company,
            canary: (1.5, 2.6),
            entry: (1.13, 1.4),
            within: 0.02,
            aftermath: (Duration::from_micros(20), Duration::from_micros(40)),
            aftermath_entry: (1.05, 1.08),
        }
    }

    /// Who is there at `now`, since when, and until when, in nanoseconds.
    fn company_at(&self, now: f64) -> (Company, f64, f64) {
        let starts = || self.company.iter().map(|(from, company)| (nanos(*from), *company));
        let (began, company) = starts().rfind(|(from, _)| *from <= now).unwrap_or((0.0, Company::Never));
        let ends = starts().map(|(from, _)| from).find(|from| *from > now);
        (company, began, ends.unwrap_or(f64::INFINITY))
    }
}

impl Default for Neighbour {
    /// Nobody.
    fn default() -> Neighbour {
        Neighbour::new(Company::Never)
    }
}

/// How much longer things take than on a core that is alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Slowdown {
    pub canary: f64,
    pub entry: f64,
}

const NONE: Slowdown = Slowdown { canary: 1.0, entry: 1.0 };

#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    Alone,
    Aftermath,
    Shared,
}

/// So many stretches of either kind are an epoch.
const EPOCH: f64 = 20.0;

/// A neighbour at work. Time is cut into epochs, each with a random stream of its own: so what happens at a time does
/// not depend on who looked before, and a long pause costs no more than a short one.
#[derive(Debug, Clone)]
pub(crate) struct RunningNeighbour {
    neighbour: Neighbour,
    /// From which the epochs' streams are made.
    seed: u64,
    random: Random,
    company: Company,
    epoch_ends: f64,
    phase: Phase,
    /// When the stretch ends: the shared one, or the one alone with its aftermath.
    stretch_ends: f64,
    /// The factors of the stretch; `slowdown` is off them by a little.
    stretch: Slowdown,
    pub slowdown: Slowdown,
    /// When something changes next, in nanoseconds.
    pub next: f64,
}

impl RunningNeighbour {
    pub fn new(neighbour: Neighbour, seed: u64) -> RunningNeighbour {
        let mut running = RunningNeighbour {
            neighbour,
            seed,
            random: Random::new(seed),
            company: Company::Never,
            epoch_ends: 0.0,
            phase: Phase::Alone,
            stretch_ends: 0.0,
            stretch: NONE,
            slowdown: NONE,
            next: 0.0,
        };
        running.begin_epoch(0.0);
        running
    }

    /// Whether somebody is there.
    pub fn is_shared(&self) -> bool {
        self.phase == Phase::Shared
    }

    /// Lets everything happen until `now`, which may be long after the last look.
    pub fn catch_up(&mut self, now: f64) {
        if self.epoch_ends <= now {
            self.begin_epoch(now);
        }
        while self.next <= now {
            self.advance();
        }
    }

    /// Lets the one thing happen that is due next.
    pub fn advance(&mut self) {
        let now = self.next;
        if now >= self.epoch_ends {
            self.begin_epoch(now);
        } else if now < self.stretch_ends {
            match self.phase {
                Phase::Shared => self.next_piece(now),
                Phase::Alone | Phase::Aftermath => self.be_alone(),
            }
        } else {
            match (self.phase, &self.company) {
                (Phase::Shared, Company::Never | Company::Stretches { .. }) => {
                    self.be_alone_after_company(now)
                }
                _ => self.begin_shared(now),
            }
        }
    }

    /// Begins the epoch that `now` is in, at its start, with a stretch of either kind, as likely as time is spent in it.
    fn begin_epoch(&mut self, now: f64) {
        let (company, company_began, company_ends) = self.neighbour.company_at(now);
        let epoch = match company.means() {
            Some((alone, shared)) => EPOCH * (alone + shared),
            None if company == Company::Always => EPOCH * SAME_COMPANY.mean(),
            None => f64::MAX,
        };
        // An epoch's own end, rounded, belongs to the next one.
        let number = ((now - company_began) / epoch + 1e-9).floor();
        let start = company_began + number * epoch;
        self.company = company;
        self.epoch_ends = (start + epoch).min(company_ends);
        self.random = Random::new(self.seed ^ start.to_bits());
        if self.random.uniform() < company.shared_share() {
            self.begin_shared(start);
        } else if start > 0.0 {
            self.be_alone_after_company(start);
        } else {
            self.stretch_ends = self.draw_alone();
            self.be_alone();
        }
    }

    fn begin_shared(&mut self, now: f64) {
        let duration = match &self.company {
            Company::Stretches { shared, .. } => shared.draw(&mut self.random),
            Company::Never | Company::Always => SAME_COMPANY.draw(&mut self.random),
        };
        self.phase = Phase::Shared;
        self.stretch_ends = now + duration;
        let canary = self.random.within(self.neighbour.canary);
        let entry = self.random.within(self.neighbour.entry);
        self.stretch = Slowdown { canary, entry };
        self.next_piece(now);
    }

    fn next_piece(&mut self, now: f64) {
        let within = self.neighbour.within;
        let mut wobble = |factor: f64, (low, high): (f64, f64)| {
            (factor * (1.0 + within * self.random.normal())).clamp(low, high)
        };
        self.slowdown = Slowdown {
            canary: wobble(self.stretch.canary, self.neighbour.canary),
            entry: wobble(self.stretch.entry, self.neighbour.entry),
        };
        let piece = nanos(Neighbour::PIECE) * self.random.exponential();
        self.next = (now + piece).min(self.stretch_ends).min(self.epoch_ends);
    }

    fn be_alone_after_company(&mut self, now: f64) {
        self.phase = Phase::Aftermath;
        self.stretch_ends = now + self.draw_alone();
        self.slowdown = Slowdown { canary: 1.0, entry: self.random.within(self.neighbour.aftermath_entry) };
        let (least, most) = self.neighbour.aftermath;
        let aftermath = self.random.within((nanos(least), nanos(most)));
        self.next = (now + aftermath).min(self.stretch_ends).min(self.epoch_ends);
    }

    fn be_alone(&mut self) {
        self.phase = Phase::Alone;
        self.slowdown = NONE;
        self.next = self.stretch_ends.min(self.epoch_ends);
    }

    fn draw_alone(&mut self) -> f64 {
        match &self.company {
            Company::Stretches { alone, .. } => alone.draw(&mut self.random),
            Company::Never | Company::Always => f64::INFINITY,
        }
    }
}
