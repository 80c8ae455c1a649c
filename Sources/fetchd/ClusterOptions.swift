import ArgumentParser
import Formats

/// The options of `fetchd serve` for services that share a PostgreSQL database.
struct ClusterOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The address at which other nodes of the same --store reach this one, such as http://10.0.0.7:8080. See docs/many-machines.md. (default: none)",
            valueName: "url"))
    var nodeUrl: String?

    /// Only the options that were given.
    var flags: [Settings.Key: JSON] {
        let flags: [Settings.Key: JSON?] = [.nodeURL: nodeUrl.map(JSON.string)]
        return flags.compactMapValues(\.self)
    }
}
