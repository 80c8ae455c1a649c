import ArgumentParser
import Formats

/// The options of `fetchd serve` for files in the downloads folder.
struct FileOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Bytes that downloads leave free on the file system of the downloads folder. A job waits until there is enough space for it. (default: 1 % of the file system, at most 1 GiB)",
            valueName: "bytes"))
    var minimumFreeBytes: String?

    @Option(
        help: ArgumentHelp(
            "The largest size of a file. A larger file fails its job with too_large, as with the job's own max_size. (default: no limit)",
            valueName: "bytes"))
    var maxFileSize: String?

    @Option(
        help: ArgumentHelp(
            "The maximum number of paused, waiting and failed downloads that keep bytes on disk. Beyond it, the bytes of the oldest downloads are deleted, and these start from the beginning. (default: no limit)",
            valueName: "n"))
    var maxParts: Int?

    @Option(
        help: ArgumentHelp(
            "The permissions of finished files, as an octal number such as 0640. The umask does not change them. (default: 0666, less the umask)",
            valueName: "mode"))
    var fileMode: String?

    @Option(
        help: ArgumentHelp(
            "The permissions of folders that fetchd creates in the downloads folder, as an octal number such as 0750. The umask does not change them. (default: 0755, less the umask)",
            valueName: "mode"))
    var directoryMode: String?

    /// Only the options that were given.
    var flags: [Settings.Key: JSON] {
        let flags: [Settings.Key: JSON?] = [
            .minimumFreeBytes: minimumFreeBytes.map(JSON.string), .maxFileSize: maxFileSize.map(JSON.string),
            .maxParts: maxParts.map(JSON.count), .fileMode: fileMode.map(JSON.string),
            .directoryMode: directoryMode.map(JSON.string),
        ]
        return flags.compactMapValues(\.self)
    }
}
