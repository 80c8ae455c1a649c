import Downloads
import Formats
import HTTPSemantics

/// The options of a download as `aria2.getOption` shows them: those that fetchd has, with the values that hold. A client
/// that adds the download again with them gets an equal one, except for secrets, which are never shown. That is how clients
/// retry a download that has failed, so the gid is no option here: the new download must get another.
struct DownloadOptionsDocument {
    let spec: JobSpec
    /// What holds for downloads without a value of their own.
    var defaults = SessionConfiguration()
    let root: DownloadsRoot

    var document: JSON {
        let connections = "\(spec.connections ?? defaults.connections ?? 1)"
        let conflict = spec.destination.onConflict ?? defaults.onConflict ?? .rename
        let retry = spec.retry ?? defaults.retry ?? RetryPolicy()
        let timeouts = (spec: spec.timeouts, session: defaults.timeouts)
        var options: JSONObject = [
            "allow-overwrite": flag(conflict == .replace), "auto-file-renaming": flag(conflict != .error),
            "connect-timeout": seconds(
                timeouts.spec.connectSeconds ?? timeouts.session.connectSeconds ?? Timeouts.defaults.connectSeconds),
            "dir": .string(root.absolute(spec.destination.directory ?? defaults.directory)),
            "max-connection-per-server": .string(connections), "max-download-limit": .string("\(spec.rateLimit ?? 0)"),
            "max-tries": .string("\(retry.maxAttempts)"), "retry-wait": seconds(retry.baseSeconds),
            "split": .string(connections),
            "timeout": seconds(
                timeouts.spec.requestSeconds ?? timeouts.session.requestSeconds ?? Timeouts.defaults.requestSeconds),
        ]
        // A name with placeholders belongs to a job that another interface has added.
        if let name = spec.destination.filename, DownloadOptions.braces(in: name) == nil {
            options["out"] = .string(name)
        }
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

    /// At most the largest value that the options take.
    private func seconds(_ value: Double?) -> JSON {
        .string("\(Int(min(value ?? 0, Double(DownloadOptions.mostSeconds)).rounded(.up)))")
    }
}
