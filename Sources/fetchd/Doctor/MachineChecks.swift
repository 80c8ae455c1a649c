import Base
import CLinux
import Configuration
import CurlClient
import Formats
import Foundation
import Glibc

extension DoctorReport {
    /// The limits of the system: file descriptors, memory, kernel.
    ///
    /// - Parameter process: the running service; nil: its limits are taken from this process.
    mutating func checkLimits(of process: Int?) {
        let jobs = settings.start.values.maxConcurrentJobs
        let limit = Self.openFiles(of: process)
        let possible = settings.descriptorLimit(of: limit).jobs()
        if let limit, possible < jobs {
            warn(
                .limits,
                "The service may open \(limit) files. They suffice for \(possible) concurrent jobs, not for \(jobs).",
                "Raise the hard limit: LimitNOFILE= in the systemd unit, or ulimit -Hn.")
        }
        if let available = Self.availableMemory, available < 64 << 20 {
            warn(
                .limits, "The machine has \(Int64(available).formatted(.byteCount(style: .memory))) of memory left.",
                "Stop other programs, or lower --max-concurrent-jobs.")
        }
        if let version = Self.kernelVersion, version < (4, 18) {
            warn(
                .limits, "The kernel has the version \(version.0).\(version.1), and fetchd is tested from 4.18 on.",
                "Upgrade the system.")
        }
        let files = [process.map { "/proc/\($0)/limits" }, Self.memoryFile, Self.kernelFile].compactMap(\.self)
        let unreadable = files.filter { KernelFile.text(of: $0) == nil }
        if !unreadable.isEmpty {
            skip(
                .limits, "\(unreadable.joined(separator: ", ")) cannot be read, so not all limits are checked.",
                Self.asUserOfService)
        }
        succeedIfNothing(.limits, "Descriptors, memory and kernel suffice.")
    }

    private static let memoryFile = "/proc/meminfo"
    private static let kernelFile = "/proc/sys/kernel/osrelease"

    /// The hard limit, of the text of /proc/PID/limits (proc_pid_limits(5)).
    private static func openFiles(of process: Int?) -> Int? {
        if let process, let text = KernelFile.text(of: "/proc/\(process)/limits") {
            let line = text.split(separator: "\n").first { $0.hasPrefix("Max open files") }
            let words = line?.split(separator: " ") ?? []
            return words.count >= 5 ? Int(words[4]) : nil
        }
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        return Int(clamping: limit.rlim_max)
    }

    /// Bytes, of the text of /proc/meminfo (proc_meminfo(5)).
    private static var availableMemory: Int? {
        let line = KernelFile.text(of: memoryFile)?.split(separator: "\n").first { $0.hasPrefix("MemAvailable:") }
        return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 << 10 }
    }

    /// The first two numbers of a release such as `6.1.0-18-amd64`.
    private static var kernelVersion: (Int, Int)? {
        let release = KernelFile.text(of: kernelFile)?.split(separator: ".").prefix(2) ?? []
        let numbers = release.map { $0.prefix { $0.isNumber } }.compactMap { Int($0) }
        return numbers.count == 2 ? (numbers[0], numbers[1]) : nil
    }

    /// - Parameter storedTime: when the service last stored its time.
    mutating func checkClock(storedTime: Date?) {
        let now = Date()
        let shown = "The clock shows \(now.formatted(.iso8601))"
        // 2025-01-01.
        guard now.timeIntervalSince1970 >= 1_735_689_600 else {
            return fail(
                .clock, "\(shown), before fetchd was written.",
                "Set the clock. Certificates of servers look as if they were not valid yet.")
        }
        if let storedTime, storedTime > now.addingTimeInterval(60) {
            warn(
                .clock, "\(shown), and the service has stored \(storedTime.formatted(.iso8601)) already.",
                "Check the clock. The service continues evenly: see docs/job-lifecycle.md, \"The clock\".")
        }
        // 1, 0, or -1 if the kernel does not say it.
        let isSynchronized = linux_clock_is_synchronized()
        if isSynchronized == 0 {
            warn(
                .clock, "No time server has synchronized the clock.",
                "Start systemd-timesyncd or chrony, unless the host of this machine sets the clock.")
        } else if isSynchronized < 0, !results.contains(where: { $0.subject == .clock }) {
            skip(
                .clock, "\(shown). The kernel does not say whether a time server sets it.",
                "Compare the clock with another one.")
        }
        succeedIfNothing(.clock, "\(shown).")
    }

    /// Where downloads may connect to.
    ///
    /// - Parameter areComplete: whether the settings have those that clients have made.
    mutating func checkAddresses(areComplete: Bool) {
        let policies = DestinationPolicies(settings.start.values)
        for (text, place) in Self.delicateAddresses {
            guard let address = IPAddress(text), policies.downloads.admits(address) else { continue }
            warn(
                .addresses, "Downloads may reach \(text): \(place).",
                "Narrow --allow-network, or add --deny-network \(text)/32.")
        }
        if !areComplete, !results.contains(where: { $0.subject == .addresses }) {
            skip(
                .addresses,
                "By options, environment and file, downloads reach neither this machine nor the metadata of a cloud. The settings that clients have made cannot be read.",
                "Make the database readable for this command.")
        }
        succeedIfNothing(.addresses, "Downloads reach neither this machine nor the metadata of a cloud.")
    }

    /// Addresses that a download should rarely reach, and what is there.
    private static let delicateAddresses = [
        ("127.0.0.1", "programs on this machine, such as fetchd itself"),
        ("169.254.169.254", "the metadata of a cloud machine, often with credentials"),
    ]
}
