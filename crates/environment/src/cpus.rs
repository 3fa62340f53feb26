//! Which CPUs there are, and which this process may use.

use serde::{Deserialize, Serialize};

use crate::cpu_list;
use crate::reader::Reader;
use crate::text;

/// Lists of CPUs as the kernel writes them: `0-3,8`. An empty list is no CPU.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cpus {
    /// Where the calling thread may run. sched_getaffinity(2).
    pub allowed: Option<String>,
    /// `/sys/devices/system/cpu/online`.
    pub online: Option<String>,
    /// CPUs that the scheduler leaves alone (`isolcpus=`). `/sys/devices/system/cpu/isolated`.
    pub isolated: Option<String>,
    /// CPUs without a periodic tick, whose entries cost more (`nohz_full=`). `/sys/devices/system/cpu/nohz_full`.
    pub nohz_full: Option<String>,
}

impl Cpus {
    pub(crate) fn capture(reader: &mut Reader, status: Option<&str>) -> Self {
        const DIRECTORY: &str = "/sys/devices/system/cpu";
        let nohz_full =
            reader.line_unless(&format!("{DIRECTORY}/nohz_full"), "on kernels built without NO_HZ_FULL");
        Self {
            allowed: allowed(reader, status),
            online: reader.line(&format!("{DIRECTORY}/online")),
            isolated: reader.line(&format!("{DIRECTORY}/isolated")),
            nohz_full: nohz_full.map(|list| if list == "(null)" { String::new() } else { list }),
        }
    }
}

/// Asks the system call, or reads `/proc/self/status` where a filter forbids the call.
fn allowed(reader: &mut Reader, status: Option<&str>) -> Option<String> {
    match process::allowed_cpus() {
        Ok(cpus) => Some(cpu_list::format(cpus.into_iter())),
        Err(error) => {
            let list = status.and_then(|status| text::field(status, "Cpus_allowed_list"));
            if list.is_none() {
                reader.miss("the CPUs allowed", format!("sched_getaffinity: {error}"));
            }
            list.map(str::to_owned)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Scratch, fixture};

    #[test]
    fn a_recorded_machine() {
        let roots = fixture("firecracker");
        let cpus = Cpus::capture(&mut Reader::new(&roots), None);
        assert_eq!(cpus.online.as_deref(), Some("0-1"));
        assert_eq!(cpus.isolated.as_deref(), Some(""));
        assert_eq!(cpus.nohz_full, None);
        assert!(cpus.allowed.is_some_and(|list| !list.is_empty()));
    }

    #[test]
    fn no_tickless_cpus_are_written_in_two_ways() {
        let scratch = Scratch::new("cpus");
        scratch.write("/sys/devices/system/cpu/nohz_full", b"  (null)\n");
        let cpus = Cpus::capture(&mut Reader::new(&scratch.roots()), None);
        assert_eq!(cpus.nohz_full.as_deref(), Some(""));
    }
}
