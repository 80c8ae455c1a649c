import Downloads
import Formats
import HTTPSemantics

/// The options of a download as `aria2.getOption` shows them: those that fetchd has, with the values that hold. A client
/// that adds the download again with them gets an equal one, except for secrets, which are never shown.
struct DownloadOptionsDocument {
    let spec: JobSpec
    let gid: GID
    let root: DownloadsRoot

    var document: JSON {
        let connections = "\(spec.connections ?? 1)"
        let conflict = spec.destination.onConflict ?? .rename
        let retry = spec.retry ?? RetryPolicy()
        var options: JSONObject = [
            "allow-overwrite": flag(conflict == .replace), "auto-file-renaming": flag(conflict != .error),
            "connect-timeout": seconds(spec.timeouts.connectSeconds ?? Timeouts.defaults.connectSeconds),
            "dir": .string(root.absolute(spec.destination.directory)), "gid": .string(gid.description),
            "max-connection-per-server": .string(connections), "max-download-limit": .string("\(spec.rateLimit ?? 0)"),
            "max-tries": .string("\(retry.maxAttempts)"), "retry-wait": seconds(retry.baseSeconds),
            "split": .string(connections),
            "timeout": seconds(spec.timeouts.requestSeconds ?? Timeouts.defaults.requestSeconds),
        ]
        if let name = spec.destination.filename { options["out"] = .string(name) }
        if let checksum = spec.checksum {
            options["checksum"] = .string("\(checksum.algorithm.rawValue)=\(checksum.value)")
        }
        for (name, option) in [("user-agent", "user-agent"), ("referer", "referer")] {
            if let field = spec.headers.first(where: { $0.name.lowercased() == name }) {
                options[option] = .string(field.value)
            }
        }
        let headers = spec.headers.filter { !$0.isSecret && !DownloadOptions.hasOwnOption($0) }
        if !headers.isEmpty {
            options["header"] = .string(headers.map { "\($0.name): \($0.value)\n" }.joined())
        }
        return .object(options)
    }

    private func flag(_ value: Bool) -> JSON { value ? "true" : "false" }
    private func seconds(_ value: Double?) -> JSON { .string("\(Int((value ?? 0).rounded(.up)))") }
}
