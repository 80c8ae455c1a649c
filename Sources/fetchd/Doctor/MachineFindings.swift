import CLinux
import Configuration
import CurlClient
import Foundation
import Glibc

/// The limits of the system: file descriptors, memory, kernel.
struct LimitFindings {
    let settings: ServiceSettings
    /// The running service; nil: its limits are taken from this process.
    let process: Int?

    var all: [Finding] {
        let findings = [descriptors, memory, kernel, unread].compactMap(\.self)
        return findings.isEmpty ? [.ok(.limits, "Descriptors, memory and kernel suffice.")] : findings
    }

    private var descriptors: Finding? {
        guard let limit = openFiles else { return nil }
        // `DescriptorLimit` needs four for a job, some for lookups and 64 for everything else.
        let needed = settings.start.values.maxConcurrentJobs * 4 + 256
        guard limit < needed else { return nil }
        return .warning(
            .limits,
            "The service may open \(limit) files, and needs about \(needed) for \(settings.start.values.maxConcurrentJobs) concurrent jobs.",
            "Raise the hard limit: LimitNOFILE= in the systemd unit, or ulimit -Hn. Otherwise fewer jobs run.")
    }

    /// What the system does not show.
    private var unread: Finding? {
        let files = [process.map { "/proc/\($0)/limits" }, "/proc/meminfo", "/proc/sys/kernel/osrelease"]
        let hidden = files.compactMap(\.self).filter { (try? String(contentsOfFile: $0, encoding: .utf8)) == nil }
        guard !hidden.isEmpty else { return nil }
        return .skipped(
            .limits, "\(hidden.joined(separator: ", ")) cannot be read, so not all limits are checked.",
            Finding.asUserOfService)
    }

    private var openFiles: Int? {
        if let process, let text = try? String(contentsOfFile: "/proc/\(process)/limits", encoding: .utf8) {
            return Self.openFiles(in: text)
        }
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        return Int(clamping: limit.rlim_max)
    }

    /// The hard limit in the text of /proc/PID/limits (proc_pid_limits(5)).
    static func openFiles(in limits: String) -> Int? {
        let line = limits.split(separator: "\n").first { $0.hasPrefix("Max open files") }
        let words = line?.split(separator: " ") ?? []
        return words.count >= 5 ? Int(words[4]) : nil
    }

    private var memory: Finding? {
        guard let text = try? String(contentsOfFile: "/proc/meminfo", encoding: .utf8),
            let available = Self.availableMemory(in: text), available < 64 << 20
        else { return nil }
        return .warning(
            .limits, "The machine has \(Int64(available).formatted(.byteCount(style: .memory))) of memory left.",
            "Stop other programs, or lower --max-concurrent-jobs.")
    }

    /// Bytes, from the text of /proc/meminfo (proc_meminfo(5)).
    static func availableMemory(in text: String) -> Int? {
        let line = text.split(separator: "\n").first { $0.hasPrefix("MemAvailable:") }
        return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 << 10 }
    }

    private var kernel: Finding? {
        guard let release = try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8),
            let version = Self.version(release), version < (4, 18)
        else { return nil }
        return .warning(
            .limits, "The kernel has the version \(version.0).\(version.1), and fetchd is tested from 4.18 on.",
            "Upgrade the system.")
    }

    /// The first two numbers of a release such as `6.1.0-18-amd64`.
    static func version(_ release: String) -> (Int, Int)? {
        let numbers = release.split(separator: ".").prefix(2).map { $0.prefix { $0.isNumber } }.compactMap { Int($0) }
        return numbers.count == 2 ? (numbers[0], numbers[1]) : nil
    }
}

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

/// Where downloads may connect to.
struct AddressFindings {
    let policies: DestinationPolicies
    /// Whether the policies have the settings that clients have made.
    var areComplete = true

    /// Addresses that a download should rarely reach, and what is there.
    private static let delicate = [
        ("127.0.0.1", "programs on this machine, such as fetchd itself"),
        ("169.254.169.254", "the metadata of a cloud machine, often with credentials"),
    ]

    var all: [Finding] {
        let findings = Self.delicate.compactMap { text, place -> Finding? in
            guard let address = IPAddress(text), policies.downloads.admits(address) else { return nil }
            return .warning(
                .addresses, "Downloads may reach \(text): \(place).",
                "Narrow --allow-network, or add --deny-network \(text)/32.")
        }
        guard areComplete || !findings.isEmpty else {
            return [
                .skipped(
                    .addresses,
                    "By options, environment and file, downloads reach neither this machine nor the metadata of a cloud. The settings that clients have made cannot be read.",
                    "Make the database readable for this command.")
            ]
        }
        return findings.isEmpty
            ? [.ok(.addresses, "Downloads reach neither this machine nor the metadata of a cloud.")] : findings
    }
}
