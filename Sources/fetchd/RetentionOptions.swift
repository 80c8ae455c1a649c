import ArgumentParser
import Formats

/// The options of `fetchd serve` for jobs that have ended.
struct RetentionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The time after which jobs that have ended are deleted. Jobs of a batch whose acknowledgement is expected and missing are deleted after --unacknowledged-retention, if that is longer. (default: never)",
            valueName: "duration"))
    var finishedRetention: String?

    @Option(
        help: ArgumentHelp(
            "What happens to the finished files of jobs that --finished-retention deletes: keep or delete. (default: keep)",
            valueName: "keep|delete"))
    var finishedRetentionFiles: String?

    /// Only the options that were given.
    var flags: [Settings.Key: JSON] {
        let flags: [Settings.Key: JSON?] = [
            .finishedRetention: finishedRetention.map(JSON.string),
            .finishedRetentionFiles: finishedRetentionFiles.map(JSON.string),
        ]
        return flags.compactMapValues(\.self)
    }
}
