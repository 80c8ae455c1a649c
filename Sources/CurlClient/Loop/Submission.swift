/// A transfer on its way into the loop.
struct Submission: Sendable {
    let id: TransferID
    let request: TransferRequest
    let handler: any TransferHandler
}
