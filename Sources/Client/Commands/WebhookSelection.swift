import ArgumentParser
import Foundation

/// The webhook that a command acts on.
struct WebhookSelection: ParsableArguments {
    @Argument(help: "The name of the webhook.")
    var name: String

    @OptionGroup var session: WebhookSession

    func path(_ action: String? = nil) -> RequestPath {
        action.map { RequestPath("sessions", session.session, "webhooks", name, $0) }
            ?? RequestPath("sessions", session.session, "webhooks", name)
    }
}
