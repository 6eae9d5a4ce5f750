//! What to paste: the limit in the words of programs that set it.

use nbuf::experiment::result::LivePoint;

/// A hard limit is above the soft one by this part of it: work that grows for a moment is slowed and not killed.
const ROOM: u64 = 8;

/// A command, on several lines where it does not fit on one.
fn command(words: &str, width: usize) -> String {
    let mut lines = vec![" ".to_owned()];
    for word in words.split(' ') {
        let last = lines.last_mut().filter(|line| line.len() + word.len() + 3 <= width);
        match last {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(format!("    {word}")),
        }
    }
    lines.join(" \\\n") + "\n"
}

/// In MiB: what to set, and a hard limit next to a soft one.
fn limits(point: &LivePoint) -> (u64, u64) {
    let limit = point.limit_bytes.0.div_ceil(1 << 20);
    (limit, limit + limit.div_ceil(ROOM))
}

/// Docker, systemd and Kubernetes.
pub(super) fn paste(point: &LivePoint, width: usize) -> String {
    let (limit, hard) = limits(point);
    let docker = format!("docker update --memory={limit}m --memory-swap={limit}m CONTAINER");
    let unit = format!("systemctl set-property NAME.service MemoryHigh={limit}M MemoryMax={hard}M");
    let kubernetes = format!(
        "kubectl set resources deployment NAME -c CONTAINER --requests=memory={limit}Mi --limits=memory={limit}Mi"
    );
    let commands: String =
        [docker, unit, kubernetes].iter().map(|words| command(words, width)).collect();
    format!(
        "To paste\n{commands}\n  resources:\n    requests:\n      memory: {limit}Mi\n    limits:\n      memory: \
         {limit}Mi\n"
    )
}

/// An object of the Vertical Pod Autoscaler that changes nothing by itself, and bounds what it recommends.
pub(super) fn autoscaler(point: &LivePoint) -> String {
    let (limit, hard) = limits(point);
    format!(
        "apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata:
  name: NAME
spec:
  targetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: NAME
  updatePolicy:
    updateMode: \"Off\"
  resourcePolicy:
    containerPolicies:
      - containerName: CONTAINER
        controlledResources: [memory]
        minAllowed:
          memory: {limit}Mi
        maxAllowed:
          memory: {hard}Mi
"
    )
}

#[cfg(test)]
mod tests {
    use nbuf::units::Bytes;

    use super::*;

    #[test]
    fn commands_fit_and_are_the_same_words() {
        let point = LivePoint { limit_bytes: Bytes((52 << 20) + 1), ..LivePoint::default() };
        let joined = |text: &str| text.replace(" \\\n    ", " ");
        let wide = paste(&point, 200);
        for part in [
            "\n  docker update --memory=53m --memory-swap=53m CONTAINER\n",
            "\n  systemctl set-property NAME.service MemoryHigh=53M MemoryMax=60M\n",
            "--requests=memory=53Mi --limits=memory=53Mi\n",
            "\n      memory: 53Mi\n",
        ] {
            assert!(wide.contains(part), "{part}: {wide}");
        }
        for width in [40, 60, 80] {
            let narrow = paste(&point, width);
            assert_eq!(joined(&narrow), wide);
            assert!(narrow.lines().all(|line| line.len() <= width), "{width}: {narrow}");
        }
        let object = autoscaler(&point);
        assert!(object.contains("memory: 53Mi") && object.contains("memory: 60Mi"), "{object}");
    }
}
