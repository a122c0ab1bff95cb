package manifest

import (
	"errors"
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd"
	"github.com/nav-watchdog/nav-watchdog/internal/arming"
)

// GlobalProjects reads globalProjects of the ConfigMap argocd-cm.
func GlobalProjects(text string) ([]arming.GlobalProject, error) {
	var out []arming.GlobalProject
	err := documents([]byte(text), func(n *yaml.Node) error {
		if n.Kind != yaml.SequenceNode {
			return errors.New("it is no list")
		}
		// Object takes what stands under a key.
		fields, err := Object(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: "globalProjects"}, n}})
		if err != nil {
			return err
		}
		list, _ := fields["globalProjects"].([]any)
		found, err := argocd.GlobalProjects(list)
		out = append(out, found...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("globalProjects: %w", err)
	}
	return out, nil
}
