import ArgumentParser
import Formats

/// The options of `fetchd serve` that say where downloads and webhooks may connect to.
struct NetworkOptions: ParsableArguments {
    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "A network that is not public, such as 192.168.0.0/16, and that downloads and their proxies may reach; repeatable. (default: none)",
            valueName: "cidr"))
    var allowNetwork: [String] = []

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "A network that neither downloads, their proxies nor webhooks may reach; repeatable. It takes precedence over every other option. (default: none)",
            valueName: "cidr"))
    var denyNetwork: [String] = []

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "A network that is not public and that the webhooks of callers without administrator rights may reach; repeatable. Webhooks of administrators may reach any network. (default: none)",
            valueName: "cidr"))
    var allowWebhookNetwork: [String] = []

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "A host that URLs of downloads may name, such as files.example.com, *.example.com or 203.0.113.7; repeatable. With this option, all other hosts are refused. Web pages that use the API have another option, allow-origin. (default: any host)",
            valueName: "host"))
    var allowOriginHost: [String] = []

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "A host that URLs of downloads may not name, in the same forms; repeatable. It takes precedence over allowed hosts. (default: none)",
            valueName: "host"))
    var denyOriginHost: [String] = []

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "A port that URLs of downloads may have, or a range such as 8000-8999; repeatable. With this option, all other ports are refused. (default: any port)",
            valueName: "port"))
    var allowOriginPort: [String] = []

    /// Only the options that were given.
    var flags: [Settings.Key: JSON] {
        let lists: [Settings.Key: [String]] = [
            .allowNetwork: allowNetwork, .denyNetwork: denyNetwork, .allowWebhookNetwork: allowWebhookNetwork,
            .allowOriginHost: allowOriginHost, .denyOriginHost: denyOriginHost, .allowOriginPort: allowOriginPort,
        ]
        return lists.filter { !$0.value.isEmpty }.mapValues { .array($0.map(JSON.string)) }
    }
}
