import CLinux
import Foundation

/// The clock of the machine.
struct ClockFindings {
    /// When the service last stored its time.
    let storedTime: Date?
    var now = Date()
    /// What the kernel says: 1, 0, or -1 if that is unknown.
    var synchronized = Int(linux_clock_is_synchronized())

    var all: [Finding] {
        if now < Self.earliest {
            return [
                .error(
                    .clock, "The clock shows \(Self.text(now)), before fetchd was written.",
                    "Set the clock. Certificates of servers look as if they were not valid yet.")
            ]
        }
        var findings: [Finding] = []
        if let storedTime, storedTime > now.addingTimeInterval(60) {
            findings.append(
                .warning(
                    .clock,
                    "The clock shows \(Self.text(now)), and the service has stored \(Self.text(storedTime)) already.",
                    "Check the clock. The service continues evenly: see docs/job-lifecycle.md, \"The clock\"."))
        }
        if synchronized == 0 {
            findings.append(
                .warning(
                    .clock, "No time server has synchronized the clock.",
                    "Start systemd-timesyncd or chrony, unless the host of this machine sets the clock."))
        }
        if synchronized < 0, findings.isEmpty {
            return [
                .skipped(
                    .clock, "The clock shows \(Self.text(now)). The kernel does not say whether a time server sets it.",
                    "Compare the clock with another one.")
            ]
        }
        return findings.isEmpty ? [.ok(.clock, "The clock shows \(Self.text(now)).")] : findings
    }

    /// 2025-01-01.
    private static let earliest = Date(timeIntervalSince1970: 1_735_689_600)

    private static func text(_ date: Date) -> String { date.formatted(.iso8601) }
}
