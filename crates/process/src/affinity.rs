//! On which CPUs a thread may run, for any number of CPUs: glibc's `cpu_set_t` ends at 1024, and the kernel refuses a
//! mask that is shorter than its own (sched_getaffinity(2)).

use nix::errno::Errno;
use nix::libc;

type Word = libc::c_ulong;

const WORD_BITS: usize = Word::BITS as usize;

/// The first mask has room for as many CPUs as `cpu_set_t`.
const FIRST_WORDS: usize = 1024 / WORD_BITS;

/// No kernel knows more CPUs than fit in here: a million, where Linux can be built for 8192.
const MOST_WORDS: usize = (1 << 20) / WORD_BITS;

/// A bit for each CPU, in the kernel's layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mask(Vec<Word>);

impl Mask {
    /// The CPU of this number alone; an error for a number that no kernel has.
    pub fn only(cpu: usize) -> Result<Mask, Errno> {
        let (word, bit) = (cpu / WORD_BITS, cpu % WORD_BITS);
        if word >= MOST_WORDS {
            return Err(Errno::EINVAL);
        }
        let mut words = vec![0; word];
        words.push(1 << bit);
        Ok(Mask(words))
    }

    /// The mask that `ask` fills in. Longer masks are tried until the kernel's fits (EINVAL: it does not fit).
    fn ask(mut ask: impl FnMut(&mut [Word]) -> Result<(), Errno>) -> Result<Mask, Errno> {
        let mut words = vec![0; FIRST_WORDS];
        loop {
            match ask(&mut words) {
                Err(Errno::EINVAL) if words.len() < MOST_WORDS => words = vec![0; words.len() * 2],
                answer => return answer.map(|()| Mask(words)),
            }
        }
    }

    /// The numbers of its CPUs, ascending.
    fn cpus(&self) -> Vec<usize> {
        let bits = |(place, word): (usize, &Word)| {
            let word = *word;
            (0..WORD_BITS).filter(move |bit| word >> bit & 1 == 1).map(move |bit| place * WORD_BITS + bit)
        };
        self.0.iter().enumerate().flat_map(bits).collect()
    }

    /// Lets the calling thread run on these CPUs alone. It only makes a system call, so it may be used after a fork.
    pub fn apply(&self) -> Result<(), Errno> {
        // SAFETY: the kernel reads as many bytes as the words have; the type of the pointer is the library's alone.
        let result = unsafe {
            libc::sched_setaffinity(
                0,
                size_of_val(self.0.as_slice()),
                self.0.as_ptr().cast::<libc::cpu_set_t>(),
            )
        };
        Errno::result(result).map(drop)
    }
}

/// The CPUs that the calling thread may run on, ascending: those that are online and inside its cpuset.
///
/// # Errors
/// The kernel's error.
pub fn allowed_cpus() -> Result<Vec<usize>, Errno> {
    let mask = Mask::ask(|words| {
        // SAFETY: the kernel and the library write at most as many bytes as the words have.
        let result = unsafe {
            libc::sched_getaffinity(0, size_of_val(words), words.as_mut_ptr().cast::<libc::cpu_set_t>())
        };
        Errno::result(result).map(drop)
    })?;
    Ok(mask.cpus())
}

/// Moves the calling thread to a CPU, where it stays.
///
/// # Errors
/// EINVAL for a CPU that does not exist, is offline, or may not be used by this thread.
pub fn pin_this_thread(cpu: usize) -> Result<(), Errno> {
    Mask::only(cpu)?.apply()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers like a kernel that supports so many CPUs, all of them allowed.
    fn kernel_with(cpus: usize) -> impl FnMut(&mut [Word]) -> Result<(), Errno> {
        move |words| {
            if words.len() * WORD_BITS < cpus {
                return Err(Errno::EINVAL);
            }
            (0..cpus).for_each(|cpu| words[cpu / WORD_BITS] |= 1 << (cpu % WORD_BITS));
            Ok(())
        }
    }

    #[test]
    fn masks_grow_until_the_kernel_takes_them() {
        for cpus in [1, 64, 65, 1024, 1025, 8192, 1 << 20] {
            let mask = Mask::ask(kernel_with(cpus)).unwrap();
            assert_eq!(mask.cpus(), (0..cpus).collect::<Vec<_>>());
        }
        assert_eq!(Mask::ask(kernel_with((1 << 20) + 1)), Err(Errno::EINVAL), "and not for ever");
    }

    #[test]
    fn another_error_is_no_reason_to_grow() {
        let mut asked = 0;
        let refused = Mask::ask(|_| {
            asked += 1;
            Err(Errno::EPERM)
        });
        assert_eq!((refused, asked), (Err(Errno::EPERM), 1));
    }

    #[test]
    fn a_mask_of_one_cpu_has_that_one() {
        for cpu in [0, 1, 63, 64, 1023, 1024, 5000, (1 << 20) - 1] {
            assert_eq!(Mask::only(cpu).unwrap().cpus(), [cpu]);
        }
        for cpu in [1 << 20, usize::MAX] {
            assert_eq!(Mask::only(cpu), Err(Errno::EINVAL));
        }
    }

    #[test]
    fn a_thread_goes_where_it_is_pinned_and_nowhere_else() {
        let last = *allowed_cpus().unwrap().last().unwrap();
        let pinned = std::thread::spawn(move || pin_this_thread(last).and_then(|()| allowed_cpus()));
        assert_eq!(pinned.join().unwrap(), Ok(vec![last]));
        for nowhere in [(1 << 20) - 1, usize::MAX] {
            let refused = std::thread::spawn(move || pin_this_thread(nowhere));
            assert_eq!(refused.join().unwrap(), Err(Errno::EINVAL));
        }
    }
}
